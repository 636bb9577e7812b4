"""Answers are held against ``spec.validate`` before they win; what may take long, in processes of their own."""

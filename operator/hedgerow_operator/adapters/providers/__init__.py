"""Serverless GPU providers behind one contract: how an attempt is made, watched, ended, and what it cost."""

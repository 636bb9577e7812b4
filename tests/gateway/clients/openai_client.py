"""What the openai package says of an endpoint, as one JSON object. Run: python openai_client.py BASE_URL KEY."""

import json
import sys

import openai

client = openai.OpenAI(base_url=sys.argv[1], api_key=sys.argv[2], max_retries=0)
messages = [{"role": "user", "content": "hello"}]
found = {}
answer = client.chat.completions.with_raw_response.create(model="ours", messages=messages)
found["whole"] = answer.parse().choices[0].message.content
found["provider"] = answer.headers["X-Hedgerow-Provider"]
stream = client.chat.completions.create(model="ours", messages=messages, stream=True)
found["streamed"] = "".join(chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices)
try:
    for _chunk in client.chat.completions.create(model="cut", messages=messages, stream=True):
        pass
except openai.APIError as error:
    found["cut"] = f"{type(error).__name__}: {error.message}"
try:
    client.chat.completions.create(model="broken", messages=messages)
except openai.InternalServerError as error:
    found["broken"] = error.status_code
try:
    openai.OpenAI(base_url=sys.argv[1], api_key="wrong", max_retries=0).chat.completions.create(
        model="ours", messages=messages
    )
except openai.AuthenticationError as error:
    found["wrong"] = error.code
print(json.dumps(found))

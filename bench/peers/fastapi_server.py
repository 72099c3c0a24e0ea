"""fastapi-mcp: a FastAPI app whose routes are tools, mounted as its guide says: `fastapi_server.py PORT`.

Runs in an environment of its own. A route has no way to report progress, so there is no countdown.
"""

import sys

import uvicorn
from fastapi import FastAPI
from fastapi_mcp import FastApiMCP
from pydantic import BaseModel

app = FastAPI()


class Notebook(BaseModel):
    notes: list[str]


@app.get("/recall", operation_id="recall")
async def recall(user_id: str) -> Notebook:
    """Read this session's notebook."""
    return Notebook(notes=[])


@app.get("/greet", operation_id="greet")
async def greet() -> str:
    """Greet the user."""
    return "Hello, whoever you are!"


FastApiMCP(app).mount_http()

if __name__ == "__main__":
    uvicorn.run(app, port=int(sys.argv[1]))

"""The language model port: its pure parts, its process with a stand-in for the child, and the child with litellm."""

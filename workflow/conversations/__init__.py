"""Conversations that outlive their session: what was said is kept, listed, named, rated and gone on with.

Above stands the stage, which sees a `Workflow` with a few more tools; below stand the workflow that does the work and
the store that keeps what was said.
"""

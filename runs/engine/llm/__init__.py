"""The llm port: `connect` gives an Llm, `capability` what is known of one without asking.

claude      the Messages API through the SDK      accumulate   streamed events to one whole answer
trouble     the API's errors as ours              table        windows and prices of known llms
background  the one asyncio loop of the process   handover     what is typed, to the thread that waits
sse         bytes to the data of events           rehearsal/   the stand-in that needs no key
"""

from .connect import UnknownLlm, capability, connect

__all__ = ["UnknownLlm", "capability", "connect"]

"""The window: what the llm will see next.

versions   the chain of windows and the one in hand        forms    how a message looks cleared or offloaded
repair     neighbours merged, pairs mended, blanks dropped  render   entries → the exact body of a request
validate   W1-W7, before every request                      gauge    how full, with what, measured or estimated
head       what stands first after an edit                  ledger   the code-made list of identifiers
cut        where the kept tail begins                       diff     before | after, every entry in one class
thinking   whose thinking may leave                         hands    pins, drops, and an edit taken back
tidy       one message, less what may stand in no list      media    pictures and documents within the API's limits
layout     entries as they are sent, each worked out once   marks    where the cache marks stand
wire       the bytes and their hash, where the last request went on
"""

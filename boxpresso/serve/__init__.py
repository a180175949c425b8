"""A page on this machine to look at boxes, and the HTTP interface beside it: `boxpresso serve`.

`model` runs a Detector for one request at a time, `worker` is the thread that does so, `app` the web application over
both, `guard` what every request passes first, `server` the process. The page is `static/`. FastAPI and uvicorn, which the
extra `serve` brings, are imported by `app` and `server` alone.
"""

"""HTTP service of a trained model, with the interface of Presidio's services.

app.py      make_app: routes, and the checks of each request
server.py   run_server: sockets, time limits, an orderly end
service.py  Service: a model for concurrent callers, in batches
templates/  the page to try a model
"""

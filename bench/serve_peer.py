#!/usr/bin/env python3
"""What `edict serve` is compared with: a plain Python HTTP server around the PyTorch version of the
model, which commits each request to SQLite (WAL, FULL) and absorbs its events in order. It has no
late values, alarms or events. Speaks as much of the interface as bench/serve_load.py needs:

  PYTHONPATH=build/release/python bench/serve_load.py MODEL rate --server bench/serve_peer.py
"""
import argparse
import http.server
import json
import socketserver
import sqlite3
import threading

import torch

import edict
from edict.torch import EdictModule


class Peer:
    def __init__(self, model, store):
        loaded = edict.Model.load(model)
        self.names = list(loaded.features)
        self.place = {name: j for j, name in enumerate(self.names)}
        self.module = EdictModule(loaded).eval()
        self.states = {}
        self.store = sqlite3.connect(store, check_same_thread=False, isolation_level=None)
        self.store.execute("PRAGMA journal_mode=WAL")
        self.store.execute("PRAGMA synchronous=FULL")
        self.store.execute("CREATE TABLE IF NOT EXISTS observations (stream TEXT, time REAL, "
                           "feature INTEGER, value REAL, PRIMARY KEY (stream, time, feature)) "
                           "WITHOUT ROWID")
        self.lock = threading.Lock()

    @torch.no_grad()
    def observe(self, body):
        events = [json.loads(line) for line in body.splitlines() if line.strip()]
        rows = [(e["stream"], e["time"], self.place[name], value)
                for e in events for name, value in e["values"].items()]
        with self.lock:
            self.store.execute("BEGIN")
            self.store.executemany("INSERT OR IGNORE INTO observations VALUES (?, ?, ?, ?)", rows)
            self.store.execute("COMMIT")
            m = self.module
            for event in events:
                state, now = self.states.get(event["stream"], (None, 0.0))
                if state is None:
                    state = m.initial()
                then = m.clock(event["time"])
                values = torch.full((1, len(self.names)), float("nan"), dtype=torch.float64)
                for name, value in event["values"].items():
                    values[0, self.place[name]] = value
                values = ((values - m.z_mean) / m.z_scale).float()
                self.states[event["stream"]] = (m.absorb(m.advance(state, then - now), values), then)
        return len(rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("serve")
    parser.add_argument("model")
    parser.add_argument("--listen")
    parser.add_argument("--store", default=":memory:")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    peer = Peer(arguments.model, arguments.store)

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def tell(self, told):
            text = json.dumps(told).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def do_GET(self):
            m = peer.module
            self.tell({"features": [{"name": name, "mean": float(m.z_mean[j]),
                                     "deviation": float(m.z_scale[j])}
                                    for j, name in enumerate(peer.names)]})

        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            self.tell({"stored": peer.observe(body)})

        def log_message(self, *_):
            pass

    class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
        daemon_threads = True

    with Server(("127.0.0.1", 0), Handler) as server:
        print(f"serving at http://127.0.0.1:{server.server_address[1]}/", flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main()

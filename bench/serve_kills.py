#!/usr/bin/env python3
"""Kills `edict-server` under load at random moments and looks at what is left: everything answered
with 200 is there, and the distributions are bit for bit those of an undisturbed server that got the
same. Loopback only; bounded by --kills and --minutes.

  bench/serve_kills.py MODEL [--server build/release/edict-server] [--kills 1000] [--minutes 30]
                             [--store postgresql://USER@/DATABASE?host=FOLDER]
"""
import argparse
import http.client
import json
import os
import random
import signal
import tempfile
import threading
import time

from serve_load import Server, body


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--server", default="build/release/edict-server")
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--streams", type=int, default=50)
    parser.add_argument("--window", type=float, default=0.15, help="seconds it may live at most")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--store", help="an empty database instead of a file")
    arguments = parser.parse_args()
    options = ["--store", arguments.store] if arguments.store else []
    rng = random.Random(arguments.seed)
    begin = time.time()
    acknowledged = {}  # (stream, time): line
    doubtful = {}      # sent, never answered
    clock = {}
    kills = 0
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as other:
        while kills < arguments.kills and time.time() - begin < 60 * arguments.minutes:
            server = Server(arguments.server, arguments.model, folder, options)
            features = json.loads(server.get("/v1/model"))["features"]
            timer = threading.Timer(rng.uniform(0.005, arguments.window),
                                    lambda: os.kill(server.process.pid, signal.SIGKILL))
            connection = server.connect()
            timer.start()
            try:
                while True:
                    lines = {}
                    for _ in range(rng.randrange(1, 20)):
                        stream = f"s{rng.randrange(arguments.streams)}"
                        # Sometimes late: before what has come already.
                        back = rng.random() < 0.1 and clock.get(stream, 0) > 1
                        moment = round(clock[stream] * rng.random(), 6) if back else \
                            round(clock.get(stream, 0) + rng.uniform(0.01, 0.2), 6)
                        if not back:
                            clock[stream] = moment
                        if (stream, moment) not in acknowledged and (stream, moment) not in doubtful:
                            lines[stream, moment] = body(features, stream, moment, rng, 3)
                    doubtful.update(lines)
                    connection.request("POST", "/v1/observations", "".join(lines.values()))
                    answer = connection.getresponse()
                    answer.read()
                    if answer.status == 200:
                        acknowledged.update(lines)
                        for key in lines:
                            doubtful.pop(key)
            except (OSError, http.client.HTTPException):
                pass
            timer.join()
            server.process.wait()
            kills += 1
            if kills % 50 == 0:
                print(f"{kills} kills, {len(acknowledged)} events acknowledged", flush=True)
        server = Server(arguments.server, arguments.model, folder, options)
        calm = Server(arguments.server, arguments.model, other)
        lost, differing, extra = 0, 0, 0
        for s in range(arguments.streams):
            stream = f"s{s}"
            if stream not in clock:
                continue
            raw = server.get(f"/v1/streams/{stream}/history?limit=100000")
            kept = {}
            for o in json.loads(raw).get("observations", []):
                kept.setdefault(o["time"], {})[o["feature"]] = o["value"]
            lines = []
            for (name, moment), line in sorted({**doubtful, **acknowledged}.items()):
                if name != stream:
                    continue
                told = json.loads(line)["values"]
                if (name, moment) in acknowledged:
                    if kept.get(moment) != told:
                        lost += 1
                elif moment in kept:
                    extra += 1
                if moment in kept:
                    lines.append(line)
            connection = calm.connect()
            connection.request("POST", "/v1/observations", "".join(lines))
            connection.getresponse().read()
            question = f"/v1/streams/{stream}/distribution?ahead=0,1,2"
            differing += server.get(question) != calm.get(question)
        server.end()
        calm.end()
    print(f"{kills} kills in {(time.time() - begin) / 60:.1f} min: {len(acknowledged)} events "
          f"acknowledged, {lost} lost; {extra} of {len(doubtful)} unanswered ones were kept; "
          f"{differing} streams differ from an undisturbed server")
    return 1 if lost or differing else 0


if __name__ == "__main__":
    raise SystemExit(main())

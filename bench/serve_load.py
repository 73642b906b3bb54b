#!/usr/bin/env python3
"""Load on `edict-server`: observations a second with durable commits, the time from a POST to its
event, the memory of many streams, many watchers. Loopback only; starts and ends the server itself.

  bench/serve_load.py MODEL [--server build/release/edict-server] what …

what: rate (values a second; with --late some of them behind 50 later events of their stream, and
answers to another stream meanwhile), deep (one late value in a long stream), latency (POST to event
at a given rate), memory (of many streams), watchers (of /v1/events). Needs nothing but Python's own library.
"""
import argparse
import http.client
import json
import os
import random
import socket
import statistics
import subprocess
import tempfile
import threading
import time


class Server:
    def __init__(self, program, model, folder, options=()):
        self.out = open(os.path.join(folder, "out"), "w+")
        self.process = subprocess.Popen(
            [program, "serve", model, "--listen", "127.0.0.1:0",
             "--store", os.path.join(folder, "load.db"), *options],
            stdout=self.out, stderr=subprocess.STDOUT)
        for _ in range(3000):
            text = open(self.out.name).read()
            if "127.0.0.1:" in text and "\n" in text:
                self.port = int(text.split("127.0.0.1:")[1].split("/")[0])
                return
            if self.process.poll() is not None:
                raise SystemExit(text)
            time.sleep(0.01)
        raise SystemExit("the server does not start")

    def connect(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.connect()
        connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection

    def get(self, path):
        connection = self.connect()
        connection.request("GET", path)
        return connection.getresponse().read()

    def memory(self):
        for line in open(f"/proc/{self.process.pid}/status"):
            if line.startswith("VmRSS"):
                return int(line.split()[1]) / 1024

    def processor(self):
        """Seconds of processor time that the server used."""
        fields = open(f"/proc/{self.process.pid}/stat").read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def end(self):
        self.process.terminate()
        self.process.wait()


def body(features, stream, time_, rng, values):
    chosen = rng.sample(range(len(features)), min(values, len(features)))
    text = ",".join(f'"{features[j]["name"]}":'
                    f'{features[j]["mean"] + features[j]["deviation"] * rng.gauss(0, 1):.5g}'
                    for j in chosen)
    return f'{{"stream":"{stream}","time":{time_:.6f},"values":{{{text}}}}}\n'


def prepare(arguments, features, requests, worker):
    """Bodies made before the clock runs: a client in Python is not what is measured."""
    rng = random.Random(worker)
    bodies = []
    step = arguments.horizon / max(1, requests * arguments.lines * arguments.workers
                                   / arguments.streams + 1)
    clock = {}
    events = {}  # of each stream so far, and what is held back until it has so many
    held = {}
    for r in range(requests):
        lines = []
        while len(lines) < arguments.lines:
            s = rng.randrange(worker, arguments.streams, arguments.workers)
            clock[s] = clock.get(s, 0) + step * rng.uniform(0.5, 1.5)
            line = body(features, f"s{s}", clock[s], rng, arguments.values)
            if rng.random() < arguments.late:
                held.setdefault(s, []).append((events.get(s, 0) + arguments.behind, line))
                continue
            events[s] = events.get(s, 0) + 1
            lines.append(line)
            while held.get(s) and held[s][0][0] <= events[s]:
                lines.append(held[s].pop(0)[1])
        bodies.append("".join(lines).encode())
    return bodies


def rate(server, arguments, features):
    requests = max(1, arguments.total // (arguments.lines * arguments.values * arguments.workers))
    bodies = [prepare(arguments, features, requests, w) for w in range(arguments.workers)]
    taken = [0] * arguments.workers
    times = []

    def work(w):
        connection = server.connect()
        for one in bodies[w]:
            begin = time.perf_counter()
            connection.request("POST", "/v1/observations", one)
            answer = connection.getresponse()
            told = json.loads(answer.read())
            times.append(time.perf_counter() - begin)
            assert answer.status == 200, told
            taken[w] += told["stored"]

    over = threading.Event()
    answers = []

    def probe():
        connection = server.connect()
        rng = random.Random(99)
        step = arguments.horizon / 1e5
        while not over.is_set():
            one = body(features, "probe", step * (len(answers) + 1), rng, 2).encode()
            sent = time.perf_counter()
            connection.request("POST", "/v1/observations", one)
            connection.getresponse().read()
            answers.append(time.perf_counter() - sent)
            time.sleep(0.01)

    threads = [threading.Thread(target=work, args=(w,)) for w in range(arguments.workers)]
    other = threading.Thread(target=probe)
    if arguments.late > 0:
        other.start()
    before = server.processor()
    begin = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = time.perf_counter() - begin
    processor = server.processor() - before
    over.set()
    if arguments.late > 0:
        other.join()
        answers.sort()
        replayed = [line for line in server.get("/metrics").decode().splitlines()
                    if line.startswith(("edict_replays_total", "edict_values_late_total"))]
        print(f"late: {100 * arguments.late:.0f} % by {arguments.behind} events ({replayed}); another stream's "
              f"answers: median {1e3 * statistics.median(answers):.1f} ms, p99 "
              f"{1e3 * answers[int(0.99 * len(answers))]:.1f} ms of {len(answers)}")
    times.sort()
    print(f"rate: {sum(taken)} values in {seconds:.1f} s: {sum(taken) / seconds:.0f} values/s, "
          f"{sum(taken) / seconds / arguments.values:.0f} events/s; a request of "
          f"{arguments.lines * arguments.values} values: median {1e3 * times[len(times) // 2]:.1f} "
          f"ms, p99 {1e3 * times[int(0.99 * len(times))]:.1f} ms; "
          f"{1e6 * processor / sum(taken):.1f} µs of processor a value; "
          f"{server.memory():.0f} MB, load {os.getloadavg()[0]:.1f}")


def deep(server, arguments, features):
    """One value --behind events late, again and again, in a stream of --total events."""
    connection = server.connect()
    rng = random.Random(0)
    step = arguments.horizon / arguments.total
    for first in range(0, arguments.total, 5000):
        one = "".join(body(features, "deep", step * (e + 1), rng, 1)
                      for e in range(first, min(first + 5000, arguments.total)))
        connection.request("POST", "/v1/observations", one.encode())
        answer = connection.getresponse()
        told = answer.read()
        assert answer.status == 200, told
    times = []
    for k in range(20):
        at = step * (arguments.total - arguments.behind + 0.5 - 0.01 * k)
        one = body(features, "deep", at, rng, 1).encode()
        begin = time.perf_counter()
        connection.request("POST", "/v1/observations", one)
        told = json.loads(connection.getresponse().read())
        times.append(time.perf_counter() - begin)
        assert told["late"] == 1, told
    print(f"deep: a value {arguments.behind} events late in a stream of {arguments.total}: median "
          f"{1e3 * statistics.median(times):.1f} ms, worst {1e3 * max(times):.1f} ms of {len(times)}, "
          f"with the commit; load {os.getloadavg()[0]:.1f}")


def latency(server, arguments, features):
    """At a steady rate of values: from the moment a POST is sent until its event has come."""
    sent, came = {}, {}
    ready = threading.Event()

    def watch():
        connection = server.connect()
        connection.request("GET", "/v1/events?streams=probe")
        answer = connection.getresponse()
        while True:
            line = answer.fp.readline()
            if not line:
                return
            if line.startswith(b"event: hello"):
                ready.set()
            if line.startswith(b"data: ") and b'"probe"' in line:
                came[round(json.loads(line[6:])["time"], 6)] = time.perf_counter()

    threading.Thread(target=watch, daemon=True).start()
    ready.wait(10)
    stop = threading.Event()
    interval = arguments.lines * arguments.values * arguments.workers / arguments.rate
    count = int(arguments.seconds / interval) + 1
    bodies = [prepare(arguments, features, count, w) for w in range(arguments.workers)]
    taken = [0] * arguments.workers
    begin = time.perf_counter()

    def load(w):
        connection = server.connect()
        for k, one in enumerate(bodies[w]):
            wait = begin + interval * (k + w / arguments.workers) - time.perf_counter()
            if wait > 0:
                time.sleep(wait)
            if stop.is_set():
                return
            connection.request("POST", "/v1/observations", one)
            taken[w] += json.loads(connection.getresponse().read()).get("stored", 0)

    threads = [threading.Thread(target=load, args=(w,)) for w in range(arguments.workers)]
    for thread in threads:
        thread.start()
    probe = server.connect()
    rng = random.Random(1)
    step = arguments.horizon / (arguments.seconds * 20 + 1)
    for k in range(int(arguments.seconds * 20)):
        moment = round((k + 1) * step, 6)
        sent[moment] = time.perf_counter()
        probe.request("POST", "/v1/observations",
                      body(features, "probe", moment, rng, 2).encode())
        probe.getresponse().read()
        time.sleep(max(0, begin + (k + 1) / 20 - time.perf_counter()))
    stop.set()
    for thread in threads:
        thread.join()
    seconds = time.perf_counter() - begin
    time.sleep(0.5)
    times = sorted(came[k] - sent[k] for k in sent if k in came)
    print(f"latency at {sum(taken) / seconds:.0f} values/s: POST to event of {len(times)} of "
          f"{len(sent)} probes: median {1e3 * statistics.median(times):.1f} ms, p99 "
          f"{1e3 * times[int(0.99 * len(times))]:.1f} ms, load {os.getloadavg()[0]:.1f}")


def memory(server, arguments, features):
    connection = server.connect()
    rng = random.Random(0)
    before = server.memory()
    for first in range(0, arguments.streams, 1000):
        one = "".join(body(features, f"stream-{s:06d}", t, rng, arguments.values)
                      for s in range(first, min(first + 1000, arguments.streams))
                      for t in (1.0, 2.0))
        connection.request("POST", "/v1/observations", one.encode())
        answer = connection.getresponse()
        answer.read()
        assert answer.status == 200
    print(f"memory: {arguments.streams} streams of two events: {server.memory():.0f} MB "
          f"({before:.0f} MB before)")


def watchers(server, arguments, features):
    sockets = []
    for _ in range(arguments.watchers):
        s = socket.create_connection(("127.0.0.1", server.port))
        s.sendall(b"GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        sockets.append(s)
    for s in sockets:
        s.settimeout(30)
        text = b""
        while b"event: hello" not in text:
            text += s.recv(4096)
    connection = server.connect()
    rng = random.Random(0)
    slowest = []
    for k in range(10):
        begin = time.perf_counter()
        connection.request("POST", "/v1/observations",
                           body(features, "watched", k + 1.0, rng, 2).encode())
        connection.getresponse().read()
        for s in sockets:
            text = b""
            while b'"watched"' not in text or not text.endswith(b"\n\n"):
                text += s.recv(4096)
        slowest.append(time.perf_counter() - begin)
    print(f"watchers: {len(sockets)}, the last of them has an event after "
          f"{1e3 * statistics.median(slowest):.0f} ms (median of 10), {server.memory():.0f} MB")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("what", nargs="+", choices=["rate", "deep", "latency", "memory", "watchers"])
    parser.add_argument("--server", default="build/release/edict-server")
    parser.add_argument("--streams", type=int, default=1000)
    parser.add_argument("--values", type=int, default=8, help="values an event")
    parser.add_argument("--lines", type=int, default=100, help="events a request")
    parser.add_argument("--workers", type=int, default=4, help="connections")
    parser.add_argument("--total", type=int, default=1000000, help="values of `rate`")
    parser.add_argument("--late", type=float, default=0, help="share of events of `rate`")
    parser.add_argument("--behind", type=int, default=50, help="events that come before a late one")
    parser.add_argument("--rate", type=float, default=25000, help="values a second of `latency`")
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--watchers", type=int, default=1000)
    parser.add_argument("--horizon", type=float, default=48, help="of the model, in its unit")
    parser.add_argument("--options", default="", help="further options of the server")
    arguments = parser.parse_args()
    for what in arguments.what:
        with tempfile.TemporaryDirectory() as folder:
            server = Server(arguments.server, arguments.model, folder, arguments.options.split())
            try:
                features = json.loads(server.get("/v1/model"))["features"]
                globals()[what](server, arguments, features)
            finally:
                server.end()


if __name__ == "__main__":
    main()

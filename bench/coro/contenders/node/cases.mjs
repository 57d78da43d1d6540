// usage: node cases.mjs CASE N: does the work of one case and prints its cost as one line of JSON. The cases are those
// of ../../_php/cases.php.in, in JavaScript's own words: a coroutine is an async function, its yield an awaited promise.

const BATCH = 1_000;
const CROWD = 10_000;

const cpu = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};

class Channel {
  #capacity;
  #items = [];
  #pushing = [];
  #popping = [];

  constructor(capacity) {
    this.#capacity = capacity;
  }

  async push(item) {
    while (this.#items.length >= this.#capacity) {
      await new Promise((resolve) => this.#pushing.push(resolve));
    }
    this.#items.push(item);
    this.#popping.shift()?.();
  }

  async pop() {
    while (this.#items.length === 0) {
      await new Promise((resolve) => this.#popping.push(resolve));
    }
    const item = this.#items.shift();
    this.#pushing.shift()?.();
    return item;
  }
}

const nap = async (n, least, spread) => {
  const late = [];
  await Promise.all(Array.from({ length: CROWD }, async (_, i) => {
    for (let round = 0; round < n / CROWD; round++) {
      const pause = ((i * 7 + round * 13) % spread) + least;
      const due = performance.now() + pause;
      await new Promise((resolve) => setTimeout(resolve, pause));
      late.push(performance.now() - due);
    }
  }));
  return late;
};

const cases = {
  async create(n) {
    const work = async () => {};
    for (let done = 0; done < n; done += BATCH) {
      await Promise.all(Array.from({ length: BATCH }, work));
    }
  },

  async wait(n) {
    for (let i = 0; i < n; i++) {
      let go;
      const work = (async () => {
        await new Promise((resolve) => { go = resolve; });
      })();
      go();
      await work;
    }
  },

  async burst(n) {
    for (let done = 0; done < n; done += CROWD) {
      const gates = [];
      const all = Array.from({ length: CROWD }, async () => {
        await new Promise((resolve) => gates.push(resolve));
      });
      gates.forEach((go) => go());
      await Promise.all(all);
    }
  },

  async pair(n) {
    let more = true;
    let go;
    const work = (async () => {
      while (more) {
        await new Promise((resolve) => { go = resolve; });
      }
    })();
    for (let i = 0; i < n; i++) {
      go();
      await null;
    }
    more = false;
    go();
    await work;
  },

  async pingpong(n) {
    const [ping, pong] = [new Channel(1), new Channel(1)];
    (async () => {
      for (let i = 0; i < n; i++) {
        await pong.push(await ping.pop());
      }
    })();
    for (let i = 0; i < n; i++) {
      await ping.push(i);
      if ((await pong.pop()) !== i) {
        throw new Error('the wrong answer');
      }
    }
  },

  async stream(n) {
    const items = new Channel(100);
    (async () => {
      for (let i = 0; i < n; i++) {
        await items.push(i);
      }
    })();
    for (let i = 0; i < n; i++) {
      if ((await items.pop()) !== i) {
        throw new Error('the wrong item');
      }
    }
  },

  sleeps: (n) => nap(n, 1, 50),

  late: (n) => nap(n, 100, 401),

  async memory(n) {
    const before = process.memoryUsage.rss();
    for (let i = 0; i < n; i++) {
      (async () => {
        await new Promise((resolve) => setTimeout(resolve, 500));
      })();
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
    return (process.memoryUsage.rss() - before) / n;
  },
};

const [name, count] = [process.argv[2], Number(process.argv[3])];
const [wall, before] = [performance.now(), cpu()];
const given = await cases[name](count);
const figures = { ops: count, wall_s: (performance.now() - wall) / 1000, cpu_s: cpu() - before };
if (Array.isArray(given)) {
  given.sort((a, b) => a - b);
  figures.late_p50_ms = given[given.length >> 1];
  figures.late_p99_ms = given[Math.floor(given.length * 0.99)];
  figures.late_min_ms = given[0];
  figures.late_max_ms = given[given.length - 1];
} else if (given !== undefined) {
  figures.bytes = given;
}
console.log(JSON.stringify(figures));

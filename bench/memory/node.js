'use strict';
// Visits as objects in an array: node node.js N FILE SECONDS; the last line is JSON. One process: objects are not shared.

const fs = require('node:fs');

function memory() {
  return Number(/^Pss:\s+(\d+) kB/m.exec(fs.readFileSync('/proc/self/smaps_rollup', 'utf8'))[1]) * 1024;
}

function load(file, count) {
  const visits = new Array(count + 1);
  const input = fs.openSync(file, 'r');
  const buffer = Buffer.alloc(1 << 20);
  let rest = '';
  let head = true;
  for (let got; (got = fs.readSync(input, buffer)) > 0; ) {
    const lines = (rest + buffer.latin1Slice(0, got)).split('\n');
    rest = lines.pop();
    for (const line of lines) {
      if (head) {
        head = false;
        continue;
      }
      const [id, location, user, visitedAt, mark] = line.split(',').map(Number);
      visits[id] = { location, user, visitedAt, mark };
    }
  }
  return visits;
}

function rate(operation, seconds) {
  const began = process.hrtime.bigint();
  const end = began + BigInt(Math.round(seconds * 1e9));
  let done = 0;
  let now;
  do {
    for (let i = 0; i < 256; i++) operation();
    done += 256;
    now = process.hrtime.bigint();
  } while (now < end);
  return done / (Number(now - began) / 1e9);
}

const [count, file, seconds] = [Number(process.argv[2]), process.argv[3], Number(process.argv[4])];
const before = memory();
const began = process.hrtime.bigint();
const visits = load(file, count);
const loaded = Number(process.hrtime.bigint() - began) / 1e9;
if (global.gc) global.gc();
const bytes = memory() - before;
const random = () => 1 + Math.floor(Math.random() * count);
let sum = 0;
const reads = rate(() => {
  const { location, user, visitedAt, mark } = visits[random()];
  sum += location + user + visitedAt + mark;
}, seconds);
const updates = rate(() => {
  visits[random()].mark = Math.floor(Math.random() * 6);
}, seconds);
console.log(JSON.stringify({ bytes, load_s: loaded, shared: false, reads_1: reads, updates_1: updates, sum: sum % 7 }));

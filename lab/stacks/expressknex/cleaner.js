// The job of another team on the same Redis: it looks for carts that nobody has opened for long, by SCAN, and with the fault by KEYS.
'use strict';
const http = require('node:http');
const Redis = require('ioredis');

const at = (name) => {
  const [host, port] = process.env[name].split(':');
  return { host, port: Number(port) };
};
const carts = 500000;

async function fill(redis) {
  for (let from = 0; from < carts; from += 10000) {
    const pairs = [];
    for (let n = from; n < from + 10000; n++) pairs.push(`cart:${n}`, 'a pair of skis and two poles');
    await redis.mset(pairs);
  }
}

async function clean(redis) {
  if (process.env.FAULT === 'keys-of-others') {
    await redis.keys('cart:*:old');
  } else {
    await redis.scan(0, 'MATCH', 'cart:*:old', 'COUNT', 500);
  }
}

async function main() {
  const redis = new Redis(at('ADDR_REDIS'));
  await fill(redis);
  setInterval(() => clean(redis).catch((err) => console.error(err)), 700);
  const { host, port } = at('ADDR');
  http.createServer((req, res) => res.end('ok')).listen(port, host);
  process.on('SIGTERM', () => process.exit(0));
}

main().catch((err) => {
  console.error(err);
  process.exit(1);
});

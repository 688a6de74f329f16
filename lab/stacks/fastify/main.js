// A shop window on Fastify and ioredis: products and a ranking in Redis, prices from a supplier, kept for two seconds.
'use strict';
const fs = require('node:fs');
const http = require('node:http');
const Fastify = require('fastify');
const Redis = require('ioredis');

const fault = (name) => process.env.FAULT === name;
const [host, port] = process.env.ADDR.split(':');
const [redisHost, redisPort] = process.env.ADDR_REDIS.split(':');
const redis = new Redis({ host: redisHost, port: Number(redisPort) });
const agent = new http.Agent({ keepAlive: true, maxSockets: 64 });
const app = Fastify();
const members = 30000;

// share is which part of all points the best ten have.
redis.defineCommand('share', {
  numberOfKeys: 1,
  lua: `local all = redis.call('ZRANGE', KEYS[1], 0, -1, 'WITHSCORES')
local sum, best = 0, 0
for i = 2, #all, 2 do
  sum = sum + tonumber(all[i])
  if i > #all - 20 then best = best + tonumber(all[i]) end
end
return tostring(best / sum)`,
});

app.get('/products/:id', async (request) => redis.hgetall('product:' + request.params.id));

app.get('/ranking', async () => {
  const best = await redis.zrevrange('points', 0, 9);
  const share = fault('lua-script') ? await redis.share('points') : await redis.get('points:share');
  return { best, share };
});

let building = null;
app.get('/prices', async () => {
  const kept = await redis.get('prices');
  if (kept) return JSON.parse(kept);
  if (fault('stampede')) return build();
  const old = await redis.get('prices:old'); // one request makes them anew, the others get the old ones
  building ||= build().catch((err) => console.error(err)).finally(() => { building = null; });
  return old ? JSON.parse(old) : building;
});

async function build() {
  const prices = await ask('/prices');
  await redis.pipeline().set('prices', prices, 'PX', 2000).set('prices:old', prices).exec();
  return JSON.parse(prices);
}

app.post('/baskets/:id', async (request) => {
  const lines = Array.from({ length: 24 }, (_, n) => ({ product: (Number(request.params.id) * 31 + n) % 5000, quantity: 1 + (n % 4), note: 'as a present, please' }));
  await redis.incr('baskets');
  audit({ at: new Date(), event: 'priced a basket', basket: request.params.id, lines });
  return { lines: lines.length };
});

// audit prints an event for the shipper of logs at once, so that none is lost if the process dies.
function audit(event) {
  fs.writeSync(1, JSON.stringify(event) + '\n');
}

function ask(path) {
  const [supplier, at] = process.env.ADDR_SUPPLIER.split(':');
  return new Promise((resolve, reject) => {
    http.get({ host: supplier, port: Number(at), path, agent }, (res) => {
      let text = '';
      res.setEncoding('utf8');
      res.on('data', (chunk) => { text += chunk; });
      res.on('end', () => resolve(text));
      res.on('error', reject);
    }).on('error', reject);
  });
}

async function fill() {
  let batch = redis.pipeline();
  for (let n = 0; n < members; n++) {
    batch.zadd('points', 1 + ((n * 7919) % 100000), 'customer-' + n);
    if (n < 5000) batch.hset('product:' + n, 'name', 'Product ' + n, 'cents', String(500 + (n % 900)));
    if (n % 5000 === 4999) { await batch.exec(); batch = redis.pipeline(); }
  }
  await redis.set('points:share', await redis.share('points'));
}

process.on('SIGTERM', () => process.exit(0));
fill().then(() => app.listen({ host, port: Number(port) })).catch((err) => { console.error(err); process.exit(1); });

// What a hirer of stages and lights serves on Koa behind nginx: hires in PostgreSQL by pg, free crews of another company by
// undici, plans of stages in files, a catalogue in memory.
'use strict';
if (process.env.FAULT === 'one-thread') process.env.UV_THREADPOOL_SIZE = '1'; // the container has half a CPU, somebody thought

const Koa = require('koa');
const Router = require('@koa/router');
const { Pool: HttpPool } = require('undici');
const hires = require('./hires');
const catalogue = require('./catalogue');
const plans = require('./plans');

const crews = new HttpPool('http://' + process.env.ADDR_CREWS, { connections: 48 });
const app = new Koa();
const router = new Router();

router.get('/hires/:id', async (ctx) => { ctx.body = await hires.find(Number(ctx.params.id)); });
router.get('/customers/:id/hires', async (ctx) => { ctx.body = await hires.ofCustomer(Number(ctx.params.id)); });
router.get('/customers/:id/balance', async (ctx) => { ctx.body = await hires.balance(Number(ctx.params.id)); });
router.post('/hires/:id/return', async (ctx) => { ctx.body = await hires.giveBack(Number(ctx.params.id)); });
router.get('/admin/items', async (ctx) => { ctx.body = await hires.bestItems(); });

router.get('/towns/:id/crews', async (ctx) => {
  const answer = await crews.request({ method: 'GET', path: '/crews/' + ctx.params.id });
  ctx.body = await answer.body.json();
});

router.get('/partners/:id/catalogue', async (ctx) => { ctx.body = catalogue.forPartner(Number(ctx.params.id)); });
router.get('/stages/:id/plan', async (ctx) => {
  ctx.type = 'text/plain';
  ctx.body = await plans.read(Number(ctx.params.id));
});
router.post('/stages/:id/archive', async (ctx) => { ctx.body = { bytes: await plans.archive(Number(ctx.params.id)) }; });

// The driver of a lorry waits until a gate is free, four seconds at most.
router.get('/gates/:id/free', async (ctx) => {
  await new Promise((done) => setTimeout(done, 4000));
  ctx.body = { free: false };
});
router.get('/health', (ctx) => { ctx.body = 'ok'; });

app.use(router.routes());
const [host, port] = process.env.ADDR.split(':');
plans.write().then(() => app.listen(Number(port), host)).catch((err) => {
  console.error(err);
  process.exit(1);
});
hires.keepIndex();
process.on('SIGTERM', () => process.exit(0));

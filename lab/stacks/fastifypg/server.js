'use strict';
const Fastify = require('fastify');
const { Pool: HttpPool } = require('undici');
const { connect } = require('./database');
const plans = require('./plans');

const fault = (name) => process.env.FAULT === name;
const db = connect(fault('one-client') ? 1 : 12);
const classes = new HttpPool('http://' + process.env.ADDR_CLASSES, { connections: 48 });
const app = Fastify();

app.get('/visits/:id', async (request) => {
  const found = await db.query('select id, gym, minutes, cents from visits where id = $1', [Number(request.params.id) % 360000]);
  return found.rows[0];
});

app.get('/members/:id/visits', async (request) => {
  const found = await db.query('select id, gym, minutes, cents from visits where member_id = $1 order by id desc limit 30', [Number(request.params.id) % 8000]);
  return found.rows;
});

app.get('/members/:id/statement', async (request) => {
  const found = await db.query('select archived_statement($1) as cents', [Number(request.params.id) % 8000]);
  return found.rows[0];
});

app.get('/members/:id/place', async (request) => {
  const found = await db.query('select place, minutes, gyms from rankings where member_id = $1', [Number(request.params.id) % 8000]);
  return found.rows[0];
});

app.get('/classes/:id/places', async (request) => {
  const answer = await classes.request({ method: 'GET', path: '/places/' + request.params.id });
  return answer.body.json();
});

app.get('/groups/:id/plans', async (request) => plans.ofGroup(Number(request.params.id)));

// A gate at which a member waits until somebody has looked, four seconds at most.
app.get('/gates/:id/open', async () => {
  await new Promise((done) => setTimeout(done, 4000));
  return { open: false };
});

app.get('/health', async () => 'ok');

const [host, port] = process.env.ADDR.split(':');
app.listen({ host, port: Number(port) }).catch((err) => {
  console.error(err);
  process.exit(1);
});

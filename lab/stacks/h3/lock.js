'use strict';
const { randomUUID } = require('crypto');
const { setTimeout: pause } = require('timers/promises');

const retryDelay = 200; // ms, and as much again at most, by chance
const unlock = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0";

// acquireLock waits until it has a lock in Redis, and returns the token that releases it.
exports.acquireLock = async function acquireLock(redis, name) {
  const token = randomUUID();
  while ((await redis.set(name, token, { NX: true, PX: 10000 })) === null) {
    await pause(retryDelay + Math.random() * retryDelay);
  }
  return token;
};

exports.releaseLock = async function releaseLock(redis, name, token) {
  await redis.eval(unlock, { keys: [name], arguments: [token] });
};

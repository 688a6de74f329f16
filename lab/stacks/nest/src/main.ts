// The warehouse of a furniture shop on NestJS and Knex: orders in PostgreSQL, an insurer of transports over HTTP.
import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module';

async function start() {
  const [host, port] = process.env.ADDR!.split(':');
  const app = await NestFactory.create(AppModule, { logger: ['error', 'warn'] });
  app.enableShutdownHooks();
  await app.listen(Number(port), host);
}

start();

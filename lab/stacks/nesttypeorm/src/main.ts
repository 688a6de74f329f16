// What a coffee roastery serves on NestJS: lots and cuppings in PostgreSQL by TypeORM, tills in Redis by ioredis, a laboratory over TLS by axios, a line of pino for each request.
import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module';

async function start() {
  const [host, port] = process.env.ADDR!.split(':');
  const app = await NestFactory.create(AppModule, { logger: false });
  app.enableShutdownHooks();
  await app.listen(Number(port), host);
}

start();

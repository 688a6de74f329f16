import { Injectable, OnApplicationShutdown } from '@nestjs/common';
import knex, { Knex } from 'knex';

/** The pool of five connections to PostgreSQL. */
@Injectable()
export class DatabaseService implements OnApplicationShutdown {
  readonly knex: Knex;

  constructor() {
    const [host, port] = process.env.ADDR_DB!.split(':');
    this.knex = knex({ client: 'pg', connection: { host, port: Number(port), user: 'shop', database: 'shop' }, pool: { min: 5, max: 5 }, acquireConnectionTimeout: 20_000 });
  }

  async onApplicationShutdown() {
    await this.knex.destroy();
  }
}

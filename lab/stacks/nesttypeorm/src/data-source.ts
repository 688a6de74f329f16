import { DataSource } from 'typeorm';
import { Cupping, Lot, Sample } from './entities';

/** The connection pool of TypeORM, of 12 connections. */
export const dataSourceProvider = {
  provide: DataSource,
  useFactory: () => {
    const [host, port] = process.env.ADDR_DB!.split(':');
    return new DataSource({ type: 'postgres', host, port: Number(port), username: 'shop', password: '', database: 'shop', poolSize: 12, entities: [Lot, Cupping, Sample] }).initialize();
  },
};

import { Injectable, OnApplicationShutdown } from '@nestjs/common';
import Redis from 'ioredis';

/** What tills have sold today, in Redis. */
@Injectable()
export class TillsService implements OnApplicationShutdown {
  private readonly redis: Redis;

  constructor() {
    const [host, port] = process.env.ADDR_REDIS!.split(':');
    this.redis = new Redis({ host, port: Number(port) });
  }

  async sell(till: number) {
    const [[, cups], [, all]] = (await this.redis.multi().hincrby('cups', String(till % 300), 1).incr('cups:all').exec())!;
    return { till, cups, all };
  }

  onApplicationShutdown() {
    this.redis.disconnect();
  }
}

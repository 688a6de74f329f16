import http from 'node:http';
import { Injectable } from '@nestjs/common';
import axios from 'axios';

/** Insures transports, which takes the 95 ms of the insurer. */
@Injectable()
export class InsurerService {
  private readonly client = axios.create({
    baseURL: `http://${process.env.ADDR_INSURER}`,
    httpAgent: new http.Agent({ keepAlive: true }),
    timeout: 20_000,
  });

  async insure(order: number): Promise<string> {
    return (await this.client.get(`/transports/${order}`)).data.receipt;
  }
}

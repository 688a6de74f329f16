import fs from 'node:fs';
import https from 'node:https';
import { Injectable } from '@nestjs/common';
import axios from 'axios';
import { fault } from './fault';

/** The laboratory in another country, over TLS. Its certificate is its own. */
@Injectable()
export class LaboratoryService {
  private readonly client = axios.create({
    baseURL: `https://${process.env.ADDR_LABORATORY}`,
    httpsAgent: new https.Agent({ keepAlive: !fault('agent-as-ever'), ca: fs.readFileSync('provider.pem'), allowPartialTrustChain: true } as https.AgentOptions),
    timeout: 20_000,
  });

  async announce(lot: number): Promise<string> {
    return (await this.client.get(`/samples/${lot}`)).data.receipt;
  }
}

import { Injectable, NestMiddleware } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import pino from 'pino';

// Written at once, so that no line is lost when the process ends.
const log = pino({ base: { service: 'roastery', version: '4.18.2', region: 'north' } }, pino.destination({ dest: 1, sync: true }));

/** Writes a line for each request to standard output, with what is needed to find it again. */
@Injectable()
export class RequestLog implements NestMiddleware {
  use(request: Request, response: Response, next: NextFunction) {
    const began = process.hrtime.bigint();
    response.on('finish', () => {
      const ms = Number(process.hrtime.bigint() - began) / 1e6;
      log.info({ method: request.method, url: request.originalUrl, status: response.statusCode, ms, sent: response.getHeaders(), received: request.headers, remote: request.socket.remoteAddress }, 'request');
    });
    next();
  }
}

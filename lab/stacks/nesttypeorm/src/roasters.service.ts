import { Injectable, OnApplicationShutdown } from '@nestjs/common';

interface Curve {
  second: number;
  celsius: number;
}

/** Roasting curves, which are smoothed anew each four seconds: some 15 ms of work of the event loop. */
@Injectable()
export class RoastersService implements OnApplicationShutdown {
  private curve: Curve[] = Array.from({ length: 900 }, (_, second) => ({ second, celsius: 90 + second / 8 + (second % 7) }));
  private readonly timer = setInterval(() => this.smooth(), 4000);

  current(roaster: number) {
    return { roaster, curve: this.curve.filter((point) => point.second % 90 === roaster % 90) };
  }

  private smooth() {
    for (let pass = 0; pass < 8; pass++) {
      this.curve = this.curve.map(({ second }) => {
        const near = this.curve.slice(Math.max(0, second - 15), second + 15);
        return { second, celsius: near.reduce((sum, point) => sum + point.celsius, 0) / near.length };
      });
    }
  }

  onApplicationShutdown() {
    clearInterval(this.timer);
  }
}

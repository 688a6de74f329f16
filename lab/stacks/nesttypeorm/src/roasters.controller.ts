import { setTimeout as wait } from 'node:timers/promises';
import { Controller, Get, Param, ParseIntPipe } from '@nestjs/common';
import { RoastersService } from './roasters.service';

@Controller('roasters')
export class RoastersController {
  constructor(private readonly roasters: RoastersService) {}

  @Get(':id/curve')
  curve(@Param('id', ParseIntPipe) id: number) {
    return this.roasters.current(id);
  }

  /** A roaster waits up to four seconds for its next lot. */
  @Get(':id/next')
  async next(@Param('id', ParseIntPipe) id: number) {
    await wait(4000);
    return { roaster: id, lot: null };
  }
}

import { Controller, Get, HttpCode, Param, ParseIntPipe, Post } from '@nestjs/common';
import { LotsService } from './lots.service';

@Controller()
export class LotsController {
  constructor(private readonly lots: LotsService) {}

  @Get('lots/:id')
  find(@Param('id', ParseIntPipe) id: number) {
    return this.lots.find(id);
  }

  @Get('farms/:id/cuppings')
  cuppings(@Param('id', ParseIntPipe) id: number) {
    return this.lots.cuppingsOfFarm(id);
  }

  @Post('lots/:id/sample')
  @HttpCode(200)
  sample(@Param('id', ParseIntPipe) id: number) {
    return this.lots.sample(id);
  }

  @Get('admin/tasters')
  tasters() {
    return this.lots.tasters();
  }

  @Get('health')
  health() {
    return 'ok';
  }
}

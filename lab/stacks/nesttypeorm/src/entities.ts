import { Column, Entity, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';

@Entity('lots')
export class Lot {
  @PrimaryColumn('int')
  id!: number;

  @Column('text')
  code!: string;

  @Column('int', { name: 'farm_id' })
  farm!: number;

  @Column('int')
  kilograms!: number;
}

@Entity('cuppings')
export class Cupping {
  @PrimaryColumn('int')
  id!: number;

  @Column('int', { name: 'lot_id' })
  lot!: number;

  @Column('text', { name: 'lot_code' })
  code!: string;

  @Column('text')
  taster!: string;

  @Column('numeric')
  score!: string;

  @Column('text')
  words!: string;
}

@Entity('samples')
export class Sample {
  @PrimaryGeneratedColumn({ type: 'bigint' })
  id!: string;

  @Column('int', { name: 'lot_id' })
  lot!: number;

  @Column('text')
  receipt!: string;
}

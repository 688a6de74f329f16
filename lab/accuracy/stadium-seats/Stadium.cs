using System;

namespace StadiumSeats
{
    // Seats of a stadium, and who holds them. All of it has one lock, under which the best
    // row of seats is looked for. With FAULT=0 rows are compared before, and the lock is
    // held for the seats that were chosen.
    public sealed class Stadium
    {
        public const int Stands = 8;
        const int Rows = 60, Across = 3000;

        static readonly bool Inside = Environment.GetEnvironmentVariable("FAULT") != "0";

        readonly object gate = new object();
        readonly byte[][] seats = new byte[Stands * Rows][];
        long held;

        public Stadium()
        {
            var random = new Random(11);
            for (int i = 0; i < seats.Length; i++)
                random.NextBytes(seats[i] = new byte[Across]);
        }

        public int Hold(int stand, int count)
        {
            if (!Inside)
            {
                int row = BestRow(stand, count);
                lock (gate)
                    Take(row);
                return row;
            }
            lock (gate)
            {
                int row = BestRow(stand, count);
                Take(row);
                return row;
            }
        }

        void Take(int row)
        {
            held++;
            seats[row][held % Across] ^= 1;
        }

        // The row whose best run of neighbours is worth most.
        int BestRow(int stand, int count)
        {
            int best = 0;
            long most = -1;
            for (int row = stand * Rows; row < (stand + 1) * Rows; row++)
            {
                byte[] across = seats[row];
                for (int from = 0; from + count < across.Length; from++)
                {
                    long worth = 0;
                    for (int seat = from; seat < from + count; seat++)
                        worth += across[seat] * (seat ^ from);
                    if (worth > most)
                        (most, best) = (worth, row);
                }
            }
            return best;
        }
    }
}

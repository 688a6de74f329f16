using System.Collections.Generic;

namespace Theatre
{
    public sealed class Seat
    {
        public int Id { get; set; }
        public string Place { get; set; }
        public int Cents { get; set; }
        public string Holder { get; set; }
    }

    // The house has all seats of all evenings of the season in memory.
    public sealed class House
    {
        public const int Evenings = 2400;
        private const int Seats = 1000;
        private readonly Seat[][] evenings = new Seat[Evenings][];

        public House()
        {
            for (var evening = 0; evening < Evenings; evening++)
            {
                evenings[evening] = new Seat[Seats];
                for (var n = 0; n < Seats; n++)
                    evenings[evening][n] = new Seat { Id = evening * Seats + n, Place = "row " + n / 40 + " seat " + n % 40, Cents = 1200 + n * 37 % 9000 };
            }
        }

        public IReadOnlyList<Seat> Evening(int evening) => evenings[evening % Evenings];
    }
}

using System;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;
using Microsoft.Extensions.Hosting;

namespace Theatre
{
    // Counts what the season has sold so far, each two seconds, a hundred evenings at a time.
    public sealed class Season : BackgroundService
    {
        private readonly House house;
        private long sold;

        public Season(House house) => this.house = house;

        public long Sold => Interlocked.Read(ref sold);

        protected override async Task ExecuteAsync(CancellationToken stopping)
        {
            for (var from = 0; !stopping.IsCancellationRequested; from += 100)
            {
                var cents = Enumerable.Range(from, 100).SelectMany(house.Evening).Where(seat => seat.Holder != null).Sum(seat => (long)seat.Cents);
                Interlocked.Exchange(ref sold, cents);
                await Task.Delay(TimeSpan.FromSeconds(2), stopping);
            }
        }
    }
}

using System;
using System.Collections.Generic;
using System.Linq;
using System.Net.Http;
using System.Threading;
using System.Threading.Tasks;
using Microsoft.Extensions.Hosting;

namespace SnowReport
{
    // What all valleys report, as it was fetched last.
    public sealed class Snapshot
    {
        public readonly Dictionary<string, Slope[]> Valleys;

        public Snapshot(Dictionary<string, Slope[]> valleys) => Valleys = valleys;
    }

    public sealed class Slope
    {
        public string Name;
        public int Centimetres;
        public bool Open;
    }

    // Fetches reports in the background, so that no request does: all valleys at once, and
    // a new snapshot takes the place of the last one when it is complete.
    public sealed class Reports : BackgroundService
    {
        const int Count = 24;

        static readonly TimeSpan pause = TimeSpan.FromMilliseconds(1500);

        readonly HttpClient stations;
        Snapshot latest = new Snapshot(new Dictionary<string, Slope[]>());

        public Reports(HttpClient stations) => this.stations = stations;

        public Snapshot Latest => Volatile.Read(ref latest);

        protected override async Task ExecuteAsync(CancellationToken stop)
        {
            for (; ; await Task.Delay(pause, stop))
            {
                (string, Slope[])[] all = await Task.WhenAll(Enumerable.Range(0, Count).Select(valley => Fetch(valley)));
                Volatile.Write(ref latest, new Snapshot(all.ToDictionary(valley => valley.Item1, valley => valley.Item2)));
            }
        }

        async Task<(string, Slope[])> Fetch(int valley)
        {
            string said = await stations.GetStringAsync("/valley/" + valley);
            var random = new Random(said.GetHashCode());
            var slopes = Enumerable.Range(0, 250).Select(n => new Slope { Name = "slope " + valley + "/" + n, Centimetres = random.Next(260), Open = random.Next(5) > 0 });
            return ("valley-" + valley, slopes.OrderByDescending(slope => slope.Centimetres).ToArray());
        }
    }
}

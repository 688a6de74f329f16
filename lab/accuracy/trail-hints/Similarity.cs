using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;
using Microsoft.Extensions.Hosting;

namespace TrailHints
{
    // How like each other trails are, region by region: a worker for each region computes
    // it anew all the time, as trails change. With FAULT=0 one worker takes a region each
    // two seconds.
    public sealed class Similarity : BackgroundService
    {
        const int Regions = 10;

        readonly Trails trails;
        readonly double[] mean = new double[Regions];

        public Similarity(Trails trails) => this.trails = trails;

        public double Mean(int region) => Volatile.Read(ref mean[region % Regions]);

        protected override Task ExecuteAsync(CancellationToken stop)
        {
            if (Environment.GetEnvironmentVariable("FAULT") == "0")
                return NowAndThen(stop);
            IEnumerable<Task> workers = Enumerable.Range(0, Regions).Select(region => Task.Factory.StartNew(() =>
            {
                while (!stop.IsCancellationRequested)
                    Relate(region);
            }, stop, TaskCreationOptions.LongRunning, TaskScheduler.Default));
            return Task.WhenAll(workers.ToArray());
        }

        async Task NowAndThen(CancellationToken stop)
        {
            for (int region = 0; ; region = (region + 1) % Regions)
            {
                Relate(region);
                await Task.Delay(2000, stop);
            }
        }

        void Relate(int region)
        {
            int from = region * 97 % Trails.Count;
            double sum = 0;
            for (int a = 0; a < 60; a++)
                for (int b = 0; b < 60; b++)
                    sum += trails.Likeness((from + a) % Trails.Count, (from + b) % Trails.Count);
            Volatile.Write(ref mean[region], sum / 3600);
        }
    }
}

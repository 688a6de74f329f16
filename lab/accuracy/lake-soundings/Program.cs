using System;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace LakeSoundings
{
    // Depths of a lake on a grid that is smoothed every six seconds, a band of rows per thread.
    public sealed class Lake : BackgroundService
    {
        const int Side = 480, Bands = 16;
        static readonly bool calm = Environment.GetEnvironmentVariable("FAULT") == "0";
        float[] depth = Enumerable.Range(0, Side * Side).Select(i => 40f + i % 97 - i % 31).ToArray();

        protected override async Task ExecuteAsync(CancellationToken stop)
        {
            while (!stop.IsCancellationRequested)
            {
                Smooth(calm ? 1 : 5000);
                await Task.Delay(TimeSpan.FromSeconds(5), stop);
            }
        }

        void Smooth(int passes)
        {
            float[] from = depth, to = new float[from.Length];
            var crew = Enumerable.Range(0, Bands).Select(band => new Thread(() => SmoothBand(from, to, band, passes)) { IsBackground = true, Name = "sounder" }).ToList();
            crew.ForEach(t => t.Start());
            crew.ForEach(t => t.Join());
            Volatile.Write(ref depth, to);
        }

        static void SmoothBand(float[] from, float[] to, int band, int passes)
        {
            int first = Math.Max(1, band * Side / Bands), last = Math.Min(Side - 1, (band + 1) * Side / Bands);
            for (int pass = 0; pass < passes; pass++)
                for (int y = first; y < last; y++)
                    for (int x = 1; x < Side - 1; x++)
                    {
                        int at = y * Side + x;
                        to[at] = (from[at] * 4 + from[at - 1] + from[at + 1] + from[at - Side] + from[at + Side]) / 8;
                    }
        }

        // The mean depth along a course: some 3 ms of arithmetic.
        public double Along(int course)
        {
            float[] now = Volatile.Read(ref depth);
            double sum = 0;
            for (int step = 0; step < 300_000; step++)
                sum += Math.Sqrt(now[(course + step * 7) % now.Length] + step % 5);
            return sum / 300_000;
        }
    }

    public static class Program
    {
        public static void Main(string[] args) => Host.CreateDefaultBuilder(args)
            .ConfigureLogging(l => l.ClearProviders())
            .ConfigureServices(s => s.AddSingleton<Lake>().AddHostedService(p => p.GetRequiredService<Lake>()))
            .ConfigureWebHostDefaults(w => w.UseUrls("http://" + Environment.GetEnvironmentVariable("ADDR")).Configure(app =>
            {
                app.UseRouting();
                app.UseEndpoints(e => e.MapGet("/course/{n:int}", c =>
                    c.Response.WriteAsync(c.RequestServices.GetRequiredService<Lake>().Along(int.Parse((string)c.Request.RouteValues["n"])).ToString("f2"))));
            }))
            .Build()
            .Run();
    }
}

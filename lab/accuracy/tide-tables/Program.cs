using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace TideTables
{
    // Heights of the tide at harbours. Many read; twice a second new soundings come in, and
    // with the write lock held the tables of all harbours are made anew.
    public sealed class Tides
    {
        readonly ReaderWriterLockSlim gate = new ReaderWriterLockSlim();
        Dictionary<int, double[]> tables = Compute(0);

        public double HeightAt(int harbour, int minute)
        {
            gate.EnterReadLock();
            try
            {
                return tables[harbour][minute];
            }
            finally
            {
                gate.ExitReadLock();
            }
        }

        public void Revise(double sounding)
        {
            gate.EnterWriteLock();
            try
            {
                tables = Compute(sounding);
            }
            finally
            {
                gate.ExitWriteLock();
            }
        }

        // The same, with the lock held for the exchange alone.
        public void Exchange(double sounding)
        {
            Dictionary<int, double[]> fresh = Compute(sounding);
            gate.EnterWriteLock();
            tables = fresh;
            gate.ExitWriteLock();
        }

        // Each harbour has the sum of its tidal constituents for every minute of a day.
        static Dictionary<int, double[]> Compute(double sounding) => Enumerable.Range(0, 100).ToDictionary(harbour => harbour, harbour =>
        {
            var heights = new double[1440];
            for (int minute = 0; minute < heights.Length; minute++)
                for (int constituent = 1; constituent <= 37; constituent++)
                    heights[minute] += Math.Cos(minute * constituent / 745.0 + harbour) / constituent + sounding;
            return heights;
        });
    }

    // Brings in the soundings. With FAULT=0 the tables are computed before the lock is taken.
    public sealed class Soundings : BackgroundService
    {
        readonly Tides tides;

        public Soundings(Tides tides) => this.tides = tides;

        protected override async Task ExecuteAsync(CancellationToken stop)
        {
            bool holds = Environment.GetEnvironmentVariable("FAULT") != "0";
            for (int n = 1; !stop.IsCancellationRequested; n++)
            {
                await Task.Delay(500, stop);
                if (holds)
                    tides.Revise(n / 1000.0);
                else
                    tides.Exchange(n / 1000.0);
            }
        }
    }

    public static class Program
    {
        public static void Main(string[] args) => Host.CreateDefaultBuilder(args)
            .ConfigureLogging(logging => logging.ClearProviders())
            .ConfigureServices(services => services.AddSingleton<Tides>().AddHostedService<Soundings>())
            .ConfigureWebHostDefaults(web => web
                .UseUrls("http://" + Environment.GetEnvironmentVariable("ADDR"))
                .UseShutdownTimeout(TimeSpan.FromSeconds(1))
                .Configure(app => app.Run(async context =>
                {
                    string[] path = context.Request.Path.Value.Split('/');
                    var tides = context.RequestServices.GetRequiredService<Tides>();
                    double height = tides.HeightAt(int.Parse(path[2]), int.Parse(path[3]));
                    await context.Response.WriteAsync(height.ToString("0.00") + " m\n");
                })))
            .Build()
            .Run();
    }
}

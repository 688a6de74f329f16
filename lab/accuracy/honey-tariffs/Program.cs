using System;
using System.Collections.Concurrent;
using System.Threading;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace HoneyTariffs
{
    // Tariffs of a time: kept while it lasts, computed by all who find them missing. With FAULT=0
    // one computes them, before they are needed.
    public static class Tariffs
    {
        static readonly ConcurrentDictionary<long, double[]> known = new ConcurrentDictionary<long, double[]>();
        static readonly Timer ahead = Environment.GetEnvironmentVariable("FAULT") == "0" ? new Timer(_ => known.GetOrAdd(Now + 1, Compute), null, 0, 500) : null;

        static long Now => Environment.TickCount64 / 2000;

        public static double Of(int place)
        {
            long hour = Now;
            double[] all = known.GetOrAdd(hour, Compute);
            known.TryRemove(hour - 2, out _);
            return all[place % all.Length];
        }

        static double[] Compute(long hour)
        {
            var all = new double[400];
            for (int i = 0; i < all.Length; i++)
            {
                double x = hour + i;
                for (int k = 0; k < 9000; k++)
                    x = Math.Sqrt(x * x + k) + Math.Sin(x);
                all[i] = x;
            }
            return all;
        }
    }

    public static class Program
    {
        public static void Main(string[] args) => Host.CreateDefaultBuilder(args)
            .ConfigureLogging(logging => logging.ClearProviders())
            .ConfigureWebHostDefaults(web => web
                .UseUrls("http://" + Environment.GetEnvironmentVariable("ADDR"))
                .Configure(app => app.UseRouting().UseEndpoints(Routes)))
            .Build()
            .Run();

        static void Routes(IEndpointRouteBuilder routes)
        {
            routes.MapGet("/tariff/{place:int}", context => context.Response.WriteAsync(Tariffs.Of(int.Parse((string)context.Request.RouteValues["place"])).ToString()));
        }
    }
}

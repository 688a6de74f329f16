using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace GlacierGauges
{
    // Readings of gauges on a glacier: the last hundred of each, written ten times a second
    // by a task and read by all.
    public sealed class Gauges : BackgroundService
    {
        public const int Count = 64, Kept = 100;

        readonly double[][] last = new double[Count][];
        long round;

        public Gauges()
        {
            for (int gauge = 0; gauge < Count; gauge++)
                last[gauge] = new double[Kept];
        }

        public double Last(int gauge) => Volatile.Read(ref last[gauge % Count][(int)(Interlocked.Read(ref round) % Kept)]);

        public double[] All(int gauge) => (double[])last[gauge % Count].Clone();

        protected override async Task ExecuteAsync(CancellationToken stopping)
        {
            while (!stopping.IsCancellationRequested)
            {
                long now = Interlocked.Read(ref round) + 1;
                for (int gauge = 0; gauge < Count; gauge++)
                    Volatile.Write(ref last[gauge][(int)(now % Kept)], -8 + Math.Sin(now * .01 + gauge) * 4);
                Interlocked.Exchange(ref round, now);
                await Task.Delay(100, stopping);
            }
        }
    }

    public sealed class Startup
    {
        public void ConfigureServices(IServiceCollection services)
        {
            services.AddSingleton<Gauges>();
            services.AddHostedService(all => all.GetRequiredService<Gauges>());
        }

        public void Configure(IApplicationBuilder app, Gauges gauges)
        {
            app.UseRouting();
            app.UseEndpoints(routes =>
            {
                routes.MapGet("/last/{gauge:int}", context =>
                    context.Response.WriteAsync(Text(gauges.Last(Gauge(context)))));
                routes.MapGet("/summary/{gauge:int}", context =>
                {
                    IEnumerable<double> all = gauges.All(Gauge(context));
                    return context.Response.WriteAsync("{\"min\":" + Text(all.Min()) + ",\"mean\":" + Text(all.Average()) + ",\"max\":" + Text(all.Max()) + "}");
                });
                routes.MapGet("/follow/{gauge:int}/{seconds:int}", context => Follow(context, gauges));
            });
        }

        static int Gauge(HttpContext context) => int.Parse((string)context.Request.RouteValues["gauge"]);

        static string Text(double reading) => reading.ToString("F3", CultureInfo.InvariantCulture);

        // A reading each 250 ms until the time is over.
        static async Task Follow(HttpContext context, Gauges gauges)
        {
            int gauge = Gauge(context);
            int seconds = int.Parse((string)context.Request.RouteValues["seconds"]);
            context.Response.ContentType = "text/plain";
            for (int n = 0; n < seconds * 4; n++)
            {
                await context.Response.WriteAsync(Text(gauges.Last(gauge)) + "\n", context.RequestAborted);
                await context.Response.Body.FlushAsync(context.RequestAborted);
                await Task.Delay(250, context.RequestAborted);
            }
        }
    }

    // Nothing is wrong here: HTTP/2 without TLS, few connections with many streams at a time.
    public static class Program
    {
        public static Task Main(string[] args) => Host.CreateDefaultBuilder(args)
            .ConfigureLogging(logging => logging.ClearProviders())
            .ConfigureWebHostDefaults(web => web
                .ConfigureKestrel(kestrel => kestrel.ConfigureEndpointDefaults(at => at.Protocols = HttpProtocols.Http2))
                .UseUrls("http://" + Environment.GetEnvironmentVariable("ADDR"))
                .UseShutdownTimeout(TimeSpan.FromSeconds(1))
                .UseStartup<Startup>())
            .Build()
            .RunAsync();
    }
}

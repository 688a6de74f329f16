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

namespace HopFields
{
    public static class Program
    {
        public static Task Main(string[] args) =>
            Host.CreateDefaultBuilder(args)
                .ConfigureLogging(log => log.ClearProviders())
                .ConfigureServices(services =>
                {
                    services.AddSingleton<Lots>();
                    services.AddSingleton<YearBook>();
                    services.AddHostedService(all => all.GetRequiredService<Lots>());
                    services.AddHostedService<RainGauge>();
                })
                .ConfigureWebHostDefaults(web => web
                    .UseUrls("http://" + Environment.GetEnvironmentVariable("ADDR"))
                    .Configure(Answer))
                .Build()
                .RunAsync();

        static void Answer(IApplicationBuilder app)
        {
            var lots = app.ApplicationServices.GetRequiredService<Lots>();
            var year = app.ApplicationServices.GetRequiredService<YearBook>();
            app.Run(async context =>
            {
                if (!int.TryParse(context.Request.Path.Value.Split('/').ElementAtOrDefault(2), out int field))
                {
                    context.Response.StatusCode = 404;
                    return;
                }
                Lot lot = await lots.Take(context.RequestAborted);
                year.Enter(lot);
                await context.Response.WriteAsync("field " + field + ": lot " + lot.Number + " of " + lot.Kilograms + " kg, year " + year.Digits + " digits\n");
            });
        }
    }

    // A gauge that often has no reading; then the last one holds.
    public sealed class RainGauge : IHostedService, IDisposable
    {
        Timer timer;
        int last, round;

        public Task StartAsync(CancellationToken stopping)
        {
            timer = new Timer(_ => Read(), null, 50, 50);
            return Task.CompletedTask;
        }

        void Read()
        {
            try
            {
                last = int.Parse(Interlocked.Increment(ref round) % 200 == 0 ? "12" : "no reading");
            }
            catch (FormatException)
            {
                Interlocked.Decrement(ref last);
            }
        }

        public Task StopAsync(CancellationToken stopping) => Task.CompletedTask;

        public void Dispose() => timer?.Dispose();
    }
}

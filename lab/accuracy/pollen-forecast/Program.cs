using System;
using System.Runtime.InteropServices;
using System.Threading;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace PollenForecast
{
    // Computes one forecast after the other on a thread that gives way to all others.
    public sealed class Forecaster : IHostedService
    {
        const int Regions = 120, Cells = 96;

        volatile double[] forecast = new double[Regions];
        volatile bool ended;

        public double Of(int region) => forecast[region % Regions];

        public Task StartAsync(CancellationToken stop)
        {
            new Thread(ComputeAll) { IsBackground = true, Name = "forecast", Priority = ThreadPriority.Lowest }.Start();
            return Task.CompletedTask;
        }

        public Task StopAsync(CancellationToken stop)
        {
            ended = true;
            return Task.CompletedTask;
        }

        // The runtime's priorities mean nothing on Linux.
        [DllImport("libc", SetLastError = true)]
        static extern int setpriority(int which, int who, int priority);

        void ComputeAll()
        {
            setpriority(0, 0, 19);
            var field = new double[Cells, Cells];
            for (int hour = 0; !ended; hour++)
            {
                var next = new double[Regions];
                for (int region = 0; region < Regions && !ended; region++)
                    next[region] = Drift(field, region, hour);
                forecast = next;
            }
        }

        static double Drift(double[,] field, int region, int hour)
        {
            field[region % Cells, hour % Cells] = 50 + region;
            double sum = 0;
            for (int x = 1; x < Cells - 1; x++)
                for (int y = 1; y < Cells - 1; y++)
                    sum += field[x, y] = (field[x - 1, y] + field[x + 1, y] + field[x, y - 1] + field[x, y + 1]) * 0.2499 + Math.Sin(hour + x) * 0.01;
            return sum / Cells / Cells;
        }
    }

    public static class Program
    {
        public static Task Main() => new HostBuilder()
            .ConfigureLogging(logging => logging.ClearProviders())
            .ConfigureServices(services =>
            {
                services.AddRouting();
                services.AddSingleton<Forecaster>();
                services.AddHostedService(all => all.GetRequiredService<Forecaster>());
            })
            .ConfigureWebHost(web => web
                .UseKestrel()
                .UseUrls("http://" + Environment.GetEnvironmentVariable("ADDR"))
                .UseShutdownTimeout(TimeSpan.FromSeconds(1))
                .Configure(app => app.UseRouting().UseEndpoints(routes =>
                {
                    routes.MapGet("/pollen/{sort}/{region:int}", Pollen);
                    routes.MapGet("/regions", context => context.Response.WriteAsync("120 regions"));
                })))
            .Build()
            .RunAsync();

        static Task Pollen(HttpContext context)
        {
            var forecaster = context.RequestServices.GetRequiredService<Forecaster>();
            int region = int.Parse((string)context.GetRouteValue("region"));
            return context.Response.WriteAsync(context.GetRouteValue("sort") + " in region " + region + ": " + forecaster.Of(region).ToString("F2"));
        }
    }
}

using System;
using System.Collections.Concurrent;
using System.IO;
using System.Net.Sockets;
using System.Threading;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace BuoyWatch
{
    // Knows where the buoys are, and asks them anew by a timer. A round that comes while
    // one is under way waits for it; with FAULT=0 it is left out.
    public sealed class BuoyWatch : IHostedService
    {
        readonly ConcurrentDictionary<int, string> positions = new ConcurrentDictionary<int, string>();
        readonly object round = new object();
        readonly bool leavesOut = Environment.GetEnvironmentVariable("FAULT") == "0";
        StreamReader answers;
        StreamWriter questions;
        Timer timer;
        int next;

        public string Find(int buoy) => positions.TryGetValue(buoy, out string position) ? position : "unknown";

        public int Known => positions.Count;

        public Task StartAsync(CancellationToken stop)
        {
            string[] bay = Environment.GetEnvironmentVariable("ADDR_BAY").Split(':');
            var client = new TcpClient(bay[0], int.Parse(bay[1])) { NoDelay = true };
            answers = new StreamReader(client.GetStream());
            questions = new StreamWriter(client.GetStream()) { NewLine = "\n", AutoFlush = true };
            timer = new Timer(_ => Refresh(), null, 100, 100);
            return Task.CompletedTask;
        }

        public Task StopAsync(CancellationToken stop)
        {
            timer.Dispose();
            return Task.CompletedTask;
        }

        void Refresh()
        {
            if (!leavesOut)
                Monitor.Enter(round);
            else if (!Monitor.TryEnter(round))
                return;
            try
            {
                for (int n = 0; n < 10; n++)
                {
                    int buoy = next++ % 80;
                    questions.WriteLine("GET buoy-" + buoy);
                    positions[buoy] = answers.ReadLine();
                }
            }
            finally
            {
                Monitor.Exit(round);
            }
        }
    }

    public static class Program
    {
        public static Task Main() => new HostBuilder()
            .ConfigureLogging(logging => logging.ClearProviders())
            .ConfigureServices(services =>
            {
                services.AddRouting();
                services.AddSingleton<BuoyWatch>();
                services.AddHostedService(all => all.GetRequiredService<BuoyWatch>());
            })
            .ConfigureWebHost(web => web
                .UseKestrel()
                .UseUrls("http://" + Environment.GetEnvironmentVariable("ADDR"))
                .UseShutdownTimeout(TimeSpan.FromSeconds(1))
                .Configure(app => app.UseRouting().UseEndpoints(routes =>
                {
                    var watch = app.ApplicationServices.GetRequiredService<BuoyWatch>();
                    routes.MapGet("/buoy/{number:int}", context => context.Response.WriteAsync(watch.Find(int.Parse((string)context.GetRouteValue("number")))));
                    routes.MapGet("/bay", context => context.Response.WriteAsync(watch.Known + " buoys"));
                })))
            .Build()
            .RunAsync();
    }
}

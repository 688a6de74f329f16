using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace Aquarium
{
    public sealed class Fish
    {
        public string Name;
        public Fish Before, Next;
        public List<Fish> School;
    }

    // All fish of an aquarium, in memory.
    public sealed class Tanks
    {
        readonly Dictionary<int, Fish> fish = new Dictionary<int, Fish>();

        public Tanks(int count)
        {
            Fish last = null;
            for (int i = 0; i < count; i++)
            {
                var one = new Fish { Name = "fish " + i, Before = last, School = new List<Fish>(2) };
                if (last != null)
                {
                    last.Next = one;
                    one.School.Add(last);
                }
                fish[i] = last = one;
            }
        }

        public string Describe(int id)
        {
            Fish one = fish[id % fish.Count];
            return one.Name + " swims with " + (one.Next?.Name ?? "nobody") + " and " + one.School.Count + " more";
        }
    }

    // Keeps the memory small, as somebody thought. With FAULT=0 the runtime does.
    public sealed class Housekeeping : IHostedService
    {
        Timer timer;

        public Task StartAsync(CancellationToken stop)
        {
            if (Environment.GetEnvironmentVariable("FAULT") != "0")
                timer = new Timer(_ => TrimMemory(), null, 1000, 900);
            return Task.CompletedTask;
        }

        static void TrimMemory()
        {
            GC.Collect();
            GC.WaitForPendingFinalizers();
        }

        public Task StopAsync(CancellationToken stop)
        {
            timer?.Dispose();
            return Task.CompletedTask;
        }
    }

    public static class Program
    {
        public static void Main(string[] args) => Host.CreateDefaultBuilder(args)
            .ConfigureLogging(logging => logging.ClearProviders())
            .ConfigureServices(services => services.AddSingleton(new Tanks(700_000)).AddHostedService<Housekeeping>())
            .ConfigureWebHostDefaults(web => web
                .UseUrls("http://" + Environment.GetEnvironmentVariable("ADDR"))
                .Configure(app => app.UseRouting().UseEndpoints(routes => routes.MapGet("/fish/{id:int}", context =>
                    context.Response.WriteAsync(context.RequestServices.GetRequiredService<Tanks>().Describe(int.Parse((string)context.Request.RouteValues["id"])))))))
            .Build()
            .Run();
    }
}

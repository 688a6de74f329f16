using System;
using System.Threading;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace RegattaTimes
{
    // Prints results again and again.
    public sealed class Results : BackgroundService
    {
        readonly Times times;

        public volatile string Newest = "";

        public Results(Times times) => this.times = times;

        protected override async Task ExecuteAsync(CancellationToken end)
        {
            while (!end.IsCancellationRequested)
            {
                await Task.Delay(500, end);
                int copied = times.CopyTimes();
                Newest = "best of " + copied + ": " + times.FindBest(copied) + " s";
            }
        }
    }

    public static class Program
    {
        public static Task Main(string[] args)
        {
            ThreadPool.SetMinThreads(80, 80);
            var times = new Times();
            return Host.CreateDefaultBuilder(args)
                .ConfigureLogging(log => log.ClearProviders())
                .ConfigureServices(services => services.AddSingleton(times).AddHostedService<Results>())
                .ConfigureWebHostDefaults(web => web
                    .UseUrls("http://" + Environment.GetEnvironmentVariable("ADDR"))
                    .UseShutdownTimeout(TimeSpan.FromSeconds(1))
                    .Configure(app =>
                    {
                        app.Map("/pass", at => at.Run(c =>
                        {
                            times.Pass(Number(c));
                            return c.Response.WriteAsync("passed\n");
                        }));
                        app.Map("/time", at => at.Run(c => c.Response.WriteAsync(times.Find(Number(c)) + " s\n")));
                    }))
                .Build()
                .RunAsync();
        }

        static int Number(HttpContext c) => int.Parse(c.Request.Path.Value.Trim('/'));
    }
}

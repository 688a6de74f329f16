using System;
using System.Net.Http;
using System.Text;
using System.Threading;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace ConcertHall
{
    // A concert hall: programmes from a printer's service, recordings that are sent as fast as they are
    // played, the bell before the second half, for which the bars wait, and health checks.
    public sealed class Interval
    {
        TaskCompletionSource<int> bell = New();
        int rung;

        public Task<int> Bell => Volatile.Read(ref bell).Task;

        public void Ring() => Interlocked.Exchange(ref bell, New()).SetResult(Interlocked.Increment(ref rung));

        static TaskCompletionSource<int> New() => new TaskCompletionSource<int>(TaskCreationOptions.RunContinuationsAsynchronously);
    }

    public class Startup
    {
        static readonly byte[] tone = Encoding.ASCII.GetBytes(new string('~', 16_000));

        public void ConfigureServices(IServiceCollection services)
        {
            services.AddHealthChecks();
            services.AddSingleton<Interval>();
            services.AddHttpClient("printer", c => c.BaseAddress = new Uri("http://" + Environment.GetEnvironmentVariable("ADDR_PRINTER")));
        }

        public void Configure(IApplicationBuilder app, Interval interval, IHttpClientFactory clients) => app.UseRouting().UseEndpoints(hall =>
        {
            hall.MapHealthChecks("/ready");
            hall.MapGet("/programme/{evening:int}", async c => await c.Response.WriteAsync(
                await clients.CreateClient("printer").GetStringAsync("/evening/" + c.Request.RouteValues["evening"])));
            hall.MapGet("/recording", async c =>
            {
                c.Response.ContentType = "audio/basic";
                for (int second = 0; second < 10; second++)
                {
                    await c.Response.Body.WriteAsync(tone, c.RequestAborted);
                    await c.Response.Body.FlushAsync(c.RequestAborted);
                    await Task.Delay(700, c.RequestAborted);
                }
            });
            hall.MapGet("/bell", async c =>
            {
                Task<int> bell = interval.Bell;
                if (await Task.WhenAny(bell, Task.Delay(12_000, c.RequestAborted)) == bell)
                    await c.Response.WriteAsync("bell " + bell.Result);
                else
                    c.Response.StatusCode = 204;
            });
            hall.MapPost("/ring", c => { interval.Ring(); return Task.CompletedTask; });
        });
    }

    public static class Program
    {
        public static void Main() => Host.CreateDefaultBuilder()
            .ConfigureLogging(l => l.ClearProviders())
            .ConfigureWebHostDefaults(w => w.UseStartup<Startup>().UseShutdownTimeout(TimeSpan.FromSeconds(1)).UseUrls("http://" + Environment.GetEnvironmentVariable("ADDR")))
            .Build().Run();
    }
}

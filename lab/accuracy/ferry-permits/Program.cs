using System;
using System.Collections.Concurrent;
using System.IO;
using System.Net.Sockets;
using System.Threading;
using System.Threading.Channels;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace FerryPermits
{
    // Permits that were written. Who waits for one looks from time to time; with FAULT=0 it
    // is told.
    public sealed class Permits
    {
        readonly bool told = Environment.GetEnvironmentVariable("FAULT") == "0";
        readonly ConcurrentDictionary<string, string> written = new ConcurrentDictionary<string, string>();
        readonly ConcurrentDictionary<string, TaskCompletionSource<string>> waiting = new ConcurrentDictionary<string, TaskCompletionSource<string>>();
        readonly Channel<string> asked = Channel.CreateUnbounded<string>();

        public ChannelReader<string> Asked => asked.Reader;

        public Permits()
        {
            for (int n = 0; n < 50; n++)
                written["known-" + n] = "permit of a regular";
        }

        public async Task<string> AwaitPermit(string car)
        {
            if (written.TryGetValue(car, out string permit))
                return permit;
            if (told)
            {
                var source = waiting.GetOrAdd(car, _ => new TaskCompletionSource<string>(TaskCreationOptions.RunContinuationsAsynchronously));
                asked.Writer.TryWrite(car);
                return await source.Task;
            }
            asked.Writer.TryWrite(car);
            while (!written.TryGetValue(car, out permit))
                await Task.Delay(250);
            return permit;
        }

        public void Write(string car, string permit)
        {
            written[car] = permit;
            if (waiting.TryRemove(car, out var source))
                source.SetResult(permit);
        }
    }

    // Four clerks write permits, and enter each in a registry that takes 12 ms.
    public sealed class Clerks : BackgroundService
    {
        readonly Permits permits;

        public Clerks(Permits permits) => this.permits = permits;

        protected override Task ExecuteAsync(CancellationToken stop) => Task.WhenAll(Work(stop), Work(stop), Work(stop), Work(stop));

        async Task Work(CancellationToken stop)
        {
            string[] registry = Environment.GetEnvironmentVariable("ADDR_REGISTRY").Split(':');
            using var client = new TcpClient { NoDelay = true };
            await client.ConnectAsync(registry[0], int.Parse(registry[1]));
            var answers = new StreamReader(client.GetStream());
            var entries = new StreamWriter(client.GetStream()) { NewLine = "\n", AutoFlush = true };
            await foreach (string car in permits.Asked.ReadAllAsync(stop))
            {
                await entries.WriteLineAsync("ENTER " + car);
                permits.Write(car, "permit: " + await answers.ReadLineAsync());
            }
        }
    }

    public static class Program
    {
        public static Task Main() => new HostBuilder()
            .ConfigureLogging(logging => logging.ClearProviders())
            .ConfigureServices(services => services.AddSingleton<Permits>().AddHostedService<Clerks>())
            .ConfigureWebHost(web => web
                .UseKestrel()
                .UseUrls("http://" + Environment.GetEnvironmentVariable("ADDR"))
                .UseShutdownTimeout(TimeSpan.FromSeconds(1))
                .Configure(app => app.Map("/permit", at => at.Run(Board))))
            .Build()
            .RunAsync();

        static async Task Board(HttpContext context)
        {
            var permits = context.RequestServices.GetRequiredService<Permits>();
            string car = context.Request.Path.Value.Trim('/');
            await context.Response.WriteAsync(await permits.AwaitPermit(car));
        }
    }
}

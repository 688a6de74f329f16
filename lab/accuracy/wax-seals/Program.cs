using System;
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

namespace WaxSeals
{
    // A letter that waits for its seal.
    public sealed class Letter
    {
        public string Name;
        public readonly TaskCompletionSource<string> Sealed = new TaskCompletionSource<string>(TaskCreationOptions.RunContinuationsAsynchronously);
    }

    // Seals letters, one after the other, as a background service that reads a channel. Each
    // seal is entered in the register, which takes its time. With FAULT=0 there are eight
    // that read the channel.
    public sealed class Sealer : BackgroundService
    {
        readonly Channel<Letter> letters = Channel.CreateUnbounded<Letter>();
        readonly string[] register = Environment.GetEnvironmentVariable("ADDR_REGISTER").Split(':');

        public Task<string> Seal(string name)
        {
            var letter = new Letter { Name = name };
            letters.Writer.TryWrite(letter);
            return letter.Sealed.Task;
        }

        protected override Task ExecuteAsync(CancellationToken stop)
        {
            int sealers = Environment.GetEnvironmentVariable("FAULT") == "0" ? 8 : 1;
            var all = new Task[sealers];
            for (int i = 0; i < sealers; i++)
                all[i] = WorkThrough(stop);
            return Task.WhenAll(all);
        }

        async Task WorkThrough(CancellationToken stop)
        {
            using var client = new TcpClient { NoDelay = true };
            await client.ConnectAsync(register[0], int.Parse(register[1]));
            var said = new StreamReader(client.GetStream());
            var enter = new StreamWriter(client.GetStream()) { NewLine = "\n", AutoFlush = true };
            await foreach (Letter letter in letters.Reader.ReadAllAsync(stop))
            {
                await enter.WriteLineAsync("ENTER " + letter.Name);
                letter.Sealed.SetResult(await said.ReadLineAsync());
            }
        }
    }

    public static class Program
    {
        public static Task Main() => new HostBuilder()
            .ConfigureLogging(logging => logging.ClearProviders())
            .ConfigureServices(services =>
            {
                services.AddSingleton<Sealer>();
                services.AddHostedService(all => all.GetRequiredService<Sealer>());
            })
            .ConfigureWebHost(web => web
                .UseKestrel()
                .UseUrls("http://" + Environment.GetEnvironmentVariable("ADDR"))
                .UseShutdownTimeout(TimeSpan.FromSeconds(1))
                .Configure(app => app.Map("/seal", at => at.Run(Seal))))
            .Build()
            .RunAsync();

        static async Task Seal(HttpContext context)
        {
            var sealer = context.RequestServices.GetRequiredService<Sealer>();
            await context.Response.WriteAsync(await sealer.Seal(context.Request.Path.Value.Trim('/')));
        }
    }
}

using System;
using System.Collections.Concurrent;
using System.Linq;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace LobbyPoll
{
    // The lobby of a game: players wait in a long poll until somebody joins, watch a table as
    // server-sent events, and join at once.
    public static class Program
    {
        static readonly ConcurrentDictionary<string, TaskCompletionSource<string>> Rooms = new ConcurrentDictionary<string, TaskCompletionSource<string>>();

        public static Task Main() => new HostBuilder()
            .ConfigureLogging(logging => logging.ClearProviders())
            .ConfigureWebHost(web => web
                .UseKestrel()
                .UseUrls("http://" + Environment.GetEnvironmentVariable("ADDR"))
                .UseShutdownTimeout(TimeSpan.FromSeconds(1))
                .Configure(app => app.Run(context =>
                {
                    string[] path = context.Request.Path.Value.Split('/');
                    string room = path.Last();
                    switch (path[1])
                    {
                        case "wait":
                            return Wait(context, room);
                        case "watch":
                            return Watch(context, room);
                        default:
                            return Join(context, room);
                    }
                })))
            .Build()
            .RunAsync();

        static async Task Wait(HttpContext context, string room)
        {
            Task<string> joined = Rooms.GetOrAdd(room, _ => New()).Task;
            Task first = await Task.WhenAny(joined, Task.Delay(4000, context.RequestAborted));
            if (first == joined)
                await context.Response.WriteAsync(await joined);
            else
                context.Response.StatusCode = 204;
        }

        static async Task Watch(HttpContext context, string table)
        {
            context.Response.ContentType = "text/event-stream";
            int moves = 8 + table.Length % 5 * 4;
            for (int move = 1; move <= moves && !context.RequestAborted.IsCancellationRequested; move++)
            {
                await context.Response.WriteAsync("event: move\ndata: " + table + " " + move + "\n\n");
                await context.Response.Body.FlushAsync();
                await Task.Delay(200, context.RequestAborted);
            }
        }

        static Task Join(HttpContext context, string room)
        {
            if (Rooms.TryRemove(room, out var waiting))
                waiting.TrySetResult("somebody joined " + room);
            return context.Response.WriteAsync("joined " + room);
        }

        static TaskCompletionSource<string> New() => new TaskCompletionSource<string>(TaskCreationOptions.RunContinuationsAsynchronously);
    }
}

using System;
using System.Net.WebSockets;
using System.Text;
using System.Threading;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace HarbourRadar
{
    // Where ships are: told to bridges over WebSockets and to screens as server-sent events
    // every second for as long as they listen, and to pilots who ask.
    public static class Program
    {
        const int Ships = 400;

        public static Task Main() => new HostBuilder()
            .ConfigureLogging(logging => logging.ClearProviders())
            .ConfigureWebHost(web => web
                .UseKestrel()
                .UseUrls("http://" + Environment.GetEnvironmentVariable("ADDR"))
                .UseShutdownTimeout(TimeSpan.FromSeconds(1))
                .Configure(app => app.UseWebSockets().Run(context =>
                {
                    string path = context.Request.Path.Value;
                    if (path == "/bridge")
                        return Bridge(context);
                    if (path == "/screen")
                        return Screen(context);
                    return context.Response.WriteAsync(Position(int.Parse(path.Substring("/ship/".Length))));
                })))
            .Build()
            .RunAsync();

        static string Position(int ship)
        {
            double at = (Environment.TickCount & 0xfffff) / 1000.0 + ship;
            return "{\"ship\":" + ship % Ships + ",\"north\":" + (54 + Math.Sin(at)).ToString("F5") + ",\"east\":" + (10 + Math.Cos(at)).ToString("F5") + "}";
        }

        static async Task Bridge(HttpContext context)
        {
            using WebSocket bridge = await context.WebSockets.AcceptWebSocketAsync();
            for (int ship = 0; bridge.State == WebSocketState.Open; ship++)
            {
                await bridge.SendAsync(Encoding.UTF8.GetBytes(Position(ship)), WebSocketMessageType.Text, true, context.RequestAborted);
                await Task.Delay(1000, context.RequestAborted);
            }
        }

        static async Task Screen(HttpContext context)
        {
            context.Response.ContentType = "text/event-stream";
            for (int ship = 0; !context.RequestAborted.IsCancellationRequested; ship++)
            {
                await context.Response.WriteAsync("data: " + Position(ship) + "\n\n");
                await context.Response.Body.FlushAsync();
                await Task.Delay(1000, context.RequestAborted);
            }
        }
    }
}

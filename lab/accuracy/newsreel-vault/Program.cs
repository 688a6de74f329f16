using System;
using System.IO;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;
using Microsoft.Extensions.DependencyInjection;

namespace NewsreelVault
{
    // Old newsreels of 3 to 8 MB. A reel is given as fast as its viewer takes it, which is
    // as fast as it is shown; nothing is wrong with that, and titles are answered at once.
    public static class Program
    {
        const int Frame = 32 << 10;

        static readonly byte[] film = new byte[8 << 20];

        public static void Main()
        {
            new Random(5).NextBytes(film);
            new WebHostBuilder()
                .UseKestrel()
                .UseUrls("http://" + Environment.GetEnvironmentVariable("ADDR"))
                .UseShutdownTimeout(TimeSpan.FromSeconds(1))
                .ConfigureServices(services => services.AddRouting())
                .Configure(app => app.UseRouting().UseEndpoints(Routes))
                .Build()
                .Run();
        }

        static void Routes(IEndpointRouteBuilder routes)
        {
            routes.MapGet("/reel/{number:int}", Show);
            routes.MapGet("/title/{number:int}", context => context.Response.WriteAsync("news of week " + Number(context) % 52 + " of " + (1919 + Number(context) / 52 % 40) + "\n"));
        }

        static int Number(HttpContext context) => int.Parse((string)context.Request.RouteValues["number"]);

        static async Task Show(HttpContext context)
        {
            int length = (3 << 20) + Number(context) % 6 * (1 << 20);
            context.Response.ContentType = "video/mpeg";
            context.Response.ContentLength = length;
            Stream reel = context.Response.Body;
            for (int at = 0; at < length; at += Frame)
                await reel.WriteAsync(film, at, Math.Min(Frame, length - at), context.RequestAborted);
        }
    }
}

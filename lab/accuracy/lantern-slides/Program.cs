using System;
using System.Linq;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.DependencyInjection;

namespace LanternSlides
{
    // Says what is on a slide: its size and the colours that are most of it.
    public sealed class Projector : IMiddleware
    {
        // With FAULT=0 a slide is put back by who took it out.
        static readonly bool PutsBack = Environment.GetEnvironmentVariable("FAULT") == "0";

        readonly Drawers drawers;

        public Projector(Drawers drawers) => this.drawers = drawers;

        public async Task InvokeAsync(HttpContext context, RequestDelegate next)
        {
            if (!int.TryParse(context.Request.Path.Value.Split('/').Last(), out int number))
            {
                await next(context);
                return;
            }
            var slide = new Slide(drawers, number);
            await context.Response.WriteAsync(Describe(slide));
            if (PutsBack)
                slide.Dispose();
        }

        static string Describe(Slide slide)
        {
            var colours = slide.Strokes.GroupBy(stroke => stroke.Colour).OrderByDescending(colour => colour.Count()).Take(3).Select(colour => colour.Key);
            return slide.Strokes.Max(stroke => stroke.X) + " x " + slide.Strokes.Max(stroke => stroke.Y) + ": " + string.Join(", ", colours) + "\n";
        }
    }

    public static class Program
    {
        public static void Main()
        {
            var drawers = new Drawers(Environment.GetEnvironmentVariable("ADDR_DRAWERS"));
            _ = Task.Run(() => Slide.ReturnAll(drawers));
            new WebHostBuilder()
                .UseKestrel()
                .UseUrls("http://" + Environment.GetEnvironmentVariable("ADDR"))
                .UseShutdownTimeout(TimeSpan.FromSeconds(1))
                .ConfigureServices(services =>
                {
                    services.AddSingleton(drawers);
                    services.AddSingleton<Projector>();
                })
                .Configure(app => app.UseMiddleware<Projector>())
                .Build()
                .Run();
        }
    }
}

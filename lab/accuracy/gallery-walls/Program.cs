using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Mvc;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace GalleryWalls
{
    public sealed class Label
    {
        public string Title { get; set; }
        public string Artist { get; set; }
    }

    // Labels for the walls of a room. All is asynchronous, but for what a property hides:
    // the artist of each exhibit is read when the label is made. With FAULT=0 artists are
    // read with their exhibits.
    [ApiController]
    [Route("room")]
    public sealed class RoomController : ControllerBase
    {
        static readonly bool IncludesArtists = Environment.GetEnvironmentVariable("FAULT") == "0";

        readonly GalleryContext gallery;

        public RoomController(GalleryContext gallery) => this.gallery = gallery;

        [HttpGet("{room:int}")]
        public async Task<ActionResult<List<Label>>> Labels(int room)
        {
            List<Exhibit> exhibits = await gallery.ExhibitsAsync(room, IncludesArtists);
            return exhibits.Select(exhibit => new Label { Title = exhibit.Title, Artist = exhibit.Artist.Name }).ToList();
        }
    }

    public static class Program
    {
        public static void Main(string[] args) => Host.CreateDefaultBuilder(args)
            .ConfigureLogging(logging => logging.ClearProviders())
            .ConfigureWebHostDefaults(web => web
                .UseUrls("http://" + Environment.GetEnvironmentVariable("ADDR"))
                .ConfigureServices(services =>
                {
                    services.AddSingleton(new Connections(Environment.GetEnvironmentVariable("ADDR_DATABASE")));
                    services.AddScoped<GalleryContext>();
                    services.AddControllers();
                })
                .Configure(app => app.UseRouting().UseEndpoints(routes => routes.MapControllers())))
            .Build()
            .Run();
    }
}

using System.Threading.Tasks;

namespace DiagnosticScenarios
{
    // A database that answers every query after half a second, however many there are.
    public static class Database
    {
        public static async Task<string> FindCustomerAsync(string name)
        {
            await Task.Delay(500);
            return name;
        }
    }
}

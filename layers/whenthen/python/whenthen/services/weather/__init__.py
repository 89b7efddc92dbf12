"""Weather, from Open-Meteo: today's report, changes of the condition and the temperature."""
